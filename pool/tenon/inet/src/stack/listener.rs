//! Queues of listeners: connections that wait for a peer, or to be accepted.

use super::Stack;
use crate::Error;

use crate::device::Port;
use crate::sockets::{Connection, Handle, Queued};
use core::net::Ipv4Addr;
use smoltcp::socket::tcp;

impl<P: Port> Stack<P> {
    /// Has a listener with a number of its own accept connections at a port, of one own address or of
    /// all: `most` of them can wait to be accepted, as far as there are any. Another call for the same
    /// listener changes `most`, and has it wait for a peer again after all connections were in use.
    ///
    /// # Errors
    ///
    /// If all connections are in use, or the port is zero.
    pub fn queue(
        &mut self,
        listener: u32,
        (address, port): (Ipv4Addr, u16),
        most: usize,
    ) -> Result<(), Error> {
        let mut is_known = false;
        for queued in self.queue_of(listener) {
            (queued.most, is_known) = (most, true);
        }
        if is_known {
            self.follow_listeners();
            return Ok(());
        }
        self.enqueue(Queued {
            listener,
            address,
            port,
            most,
            order: 0,
            is_last: true,
        })
    }

    /// The first connection of a listener's queue that has a peer, by the order in which peers have
    /// asked for them.
    #[must_use]
    pub fn acceptable(&self, listener: u32) -> Option<Handle> {
        let index = self.acceptable_index(listener)?;
        self.sockets.connections.get(index)?.handle
    }

    /// Takes the first connection that has a peer out of a listener's queue.
    pub fn accept(&mut self, listener: u32) -> Option<Handle> {
        let index = self.acceptable_index(listener)?;
        let connection = self.sockets.connections.get_mut(index)?;
        let (handle, queued) = (connection.handle, connection.queued.take());
        if queued.is_some_and(|queued| queued.is_last)
            && let Some(last) = self.queue_of(listener).max_by_key(|queued| queued.order)
        {
            last.is_last = true;
        }
        self.follow_listeners();
        handle
    }

    /// Ends the connections of a listener's queue.
    pub fn end_queue(&mut self, listener: u32) {
        for index in 0..self.sockets.connections.len() {
            let connection = &mut self.sockets.connections[index];
            let is_of = |queued: &Queued| queued.listener == listener;
            if connection.queued.as_ref().is_some_and(is_of)
                && let Some(handle) = connection.handle
            {
                (connection.queued, connection.taken) = (None, false);
                self.tcp_mut(handle).abort();
            }
        }
    }

    /// Has each listener wait for a further peer after one has asked for a connection, and gives those
    /// back that have ended. One frame is processed at a time, so that one that waits is enough.
    pub(crate) fn follow_listeners(&mut self) {
        for index in 0..self.sockets.connections.len() {
            let connection = self.sockets.connections[index];
            let (Some(handle), Some(queued)) = (connection.handle, connection.queued) else {
                continue;
            };
            match self.tcp(handle).state() {
                tcp::State::Closed if queued.is_last => {
                    // The port is one at which it has waited before.
                    let _ = self.listen(handle, queued.address, queued.port);
                }
                tcp::State::Closed => {
                    let connection = &mut self.sockets.connections[index];
                    (connection.queued, connection.taken) = (None, false);
                }
                tcp::State::Listen => {}
                _ if queued.is_last => self.append_to(index, queued),
                _ => {}
            }
        }
    }

    /// Has a connection wait for a peer behind the last one of a queue, if there is room.
    fn append_to(&mut self, index: usize, queued: Queued) {
        let next = Queued {
            order: queued.order + 1,
            ..queued
        };
        if self.queue_of(queued.listener).count() < queued.most
            && self.enqueue(next).is_ok()
            && let Some(queued) = &mut self.sockets.connections[index].queued
        {
            queued.is_last = false;
        }
    }

    fn enqueue(&mut self, queued: Queued) -> Result<(), Error> {
        let handle = self.take_connection()?;
        if let Err(error) = self.listen(handle, queued.address, queued.port) {
            self.give_connection(handle);
            return Err(error);
        }
        if let Some(connection) = self.sockets.connection_mut(handle) {
            connection.queued = Some(queued);
        }
        Ok(())
    }

    fn queue_of(&mut self, listener: u32) -> impl Iterator<Item = &mut Queued> {
        let all = self.sockets.connections.iter_mut();
        let all = all.filter_map(|connection| connection.queued.as_mut());
        all.filter(move |queued| queued.listener == listener)
    }

    fn acceptable_index(&self, listener: u32) -> Option<usize> {
        let order = |connection: &Connection| {
            let queued = connection.queued?;
            let socket = self.tcp(connection.handle?);
            let waits = matches!(
                socket.state(),
                tcp::State::Listen | tcp::State::SynReceived | tcp::State::Closed
            );
            (queued.listener == listener && !waits).then_some(queued.order)
        };
        let all = self.sockets.connections.iter().enumerate();
        let known = all.filter_map(|(index, connection)| Some((order(connection)?, index)));
        known.min().map(|(_, index)| index)
    }
}
