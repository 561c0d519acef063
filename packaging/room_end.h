#if defined __clang__
#undef memcmp
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

/* From here on our functions are static. The library uses some of them in part of its
 * files only, and the command uses others. */
#pragma GCC diagnostic ignored "-Wunused-function"
