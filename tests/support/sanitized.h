/* sanitized - which sanitizer a test is built under, by gcc or clang. */
#ifndef DYNAX_TESTS_SANITIZED_H
#define DYNAX_TESTS_SANITIZED_H

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_THREAD_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_THREAD__) && !defined(UNDER_THREAD_SANITIZER)
#define UNDER_THREAD_SANITIZER 1
#endif
#ifndef UNDER_THREAD_SANITIZER
#define UNDER_THREAD_SANITIZER 0
#endif

/* Of n rounds of a long random test, those that are worth their time: the thread sanitizer, ten times slower than the rest,
 * looks at where threads meet, and sees that in the first of them. */
static inline unsigned test_rounds(unsigned n)
{
	return UNDER_THREAD_SANITIZER ? n / 10 : n;
}

#endif
