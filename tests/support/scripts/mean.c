double mean(long all, int n) { return (double)all / n; }
