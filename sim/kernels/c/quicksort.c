/* Each thread sorts a list of its own in device memory. What is left to do lies on a stack, an array of the thread. */
#include <wave.h>

KERNEL_WORKGROUP(quicksort, 64, 1, 1);

/* Lists of `length` words lie one behind the other. */
KERNEL void quicksort(int *values, unsigned length, unsigned lists)
{
    unsigned list = global_id_x();
    if (list >= lists) return;
    values += list * length;
    /* The longer part waits and the shorter is done first, so that log2(length) entries are enough. */
    struct { int low, high; } waiting[24];
    int depth = 0, low = 0, high = (int)length - 1;
    for (;;) {
        while (high - low >= 8) {
            /* The middle one of three, so that a sorted list is not the worst case. */
            int first = values[low], middle = values[(low + high) / 2], last = values[high];
            int pivot = imax(imin(first, middle), imin(imax(first, middle), last));
            int left = low, right = high;
            while (left <= right) {
                while (values[left] < pivot) left++;
                while (values[right] > pivot) right--;
                if (left <= right) {
                    int swapped = values[left];
                    values[left++] = values[right];
                    values[right--] = swapped;
                }
            }
            if (right - low < high - left) {
                waiting[depth].low = left, waiting[depth++].high = high;
                high = right;
            } else {
                waiting[depth].low = low, waiting[depth++].high = right;
                low = left;
            }
        }
        /* Short lists by insertion. */
        for (int i = low + 1; i <= high; i++) {
            int value = values[i], at = i;
            for (; at > low && values[at - 1] > value; at--) values[at] = values[at - 1];
            values[at] = value;
        }
        if (depth == 0) return;
        depth--;
        low = waiting[depth].low, high = waiting[depth].high;
    }
}
