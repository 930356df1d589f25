"""What processes do one at a time."""

import shutil
import threading
import time

from tenonos.locks import exclusive


def test_one_waits_for_another(tmp_path):
    inside, most = 0, 0

    def work():
        nonlocal inside, most
        with exclusive(tmp_path / "folder"):
            inside += 1
            most = max(most, inside)
            time.sleep(0.02)
            inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_a_waiter_for_a_deleted_folder_makes_a_new_one(tmp_path):
    folder = tmp_path / "folder"
    waiting, wrote = threading.Event(), []

    def work():
        waiting.set()
        with exclusive(folder):
            (folder / "file").write_text("mine")
            wrote.append((folder / "lock").exists())

    thread = threading.Thread(target=work)
    with exclusive(folder):
        thread.start()
        waiting.wait()
        time.sleep(0.1)  # until it has the old one open and waits
        shutil.rmtree(folder)
    thread.join()
    assert wrote == [True]
    assert (folder / "file").read_text() == "mine"
