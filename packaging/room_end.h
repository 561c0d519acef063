#if defined __clang__
#undef memcmp
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

