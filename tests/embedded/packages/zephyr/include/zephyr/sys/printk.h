/* As much of Zephyr's as the sample needs. */
#ifndef ZEPHYR_PRINTK_H
#define ZEPHYR_PRINTK_H

void printk(const char *text);

#endif
