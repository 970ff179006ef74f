/* Stands for the header of a C library for another machine, which a compiler finds and cannot read. */
#error "a header of a hosted C library"
