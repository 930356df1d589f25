long sum(long n);
double mean(long all, int n);
