// Managed variables, as NVIDIA's compiler registers them: the host reaches each through a pointer that the runtime sets to
// the variable's address on the device. clang has no such variables for CUDA, so the PTX is written out and registered by
// hand.
#include <cstdio>

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .global .align 4 .u32 before = 5;\n"
    ".visible .global .attribute(.managed) .align 4 .u32 counter = 40;\n"
    ".visible .global .attribute(.managed) .align 16 .b8 table[10000];\n"
    ".visible .entry add(.param .u32 amount)\n"
    "{\n"
    "    .reg .u32 %r<6>; .reg .u64 %rd<4>;\n"
    "    ld.param.u32 %r1, [amount];\n"
    "    ld.global.u32 %r2, [counter];\n"
    "    add.u32 %r2, %r2, %r1;\n"
    "    st.global.u32 [counter], %r2;\n"
    "    mov.u64 %rd1, table;\n"
    "    ld.global.u32 %r3, [%rd1];\n"
    "    add.u32 %r3, %r3, 1;\n"
    "    st.global.u32 [%rd1+9996], %r3;\n"
    "    ret;\n"
    "}\n";

extern "C" {
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
void __cudaRegisterManagedVar(void **, void **, char *, const char *, int, size_t, int, int);
char __cudaInitModule(void **);
}

static void add_of_host() {}
static unsigned *counter;
static unsigned *table;
static char counter_shadow, table_shadow;

int main()
{
    void **module = __cudaRegisterFatBinary((void *)ptx);
    __cudaRegisterFunction(module, (const char *)add_of_host, (char *)"add", "add", -1, 0, 0, 0, 0, 0);
    __cudaRegisterManagedVar(module, (void **)&counter, &counter_shadow, "counter", 0, 4, 0, 0);
    __cudaRegisterManagedVar(module, (void **)&table, &table_shadow, "table", 0, 10000, 0, 0);
    __cudaRegisterFatBinaryEnd(module);
    if (!__cudaInitModule(module) || !counter || !table) {
        printf("FAILED: the variables are not there\n");
        return 1;
    }
    unsigned first = *counter, amount = 2;
    *counter += 100;
    table[0] = 6;
    void *arguments[] = {&amount};
    cudaLaunchKernel((const void *)add_of_host, dim3(1), dim3(1), arguments, 0, 0);
    cudaDeviceSynchronize();
    void *address = 0;
    cudaGetSymbolAddress(&address, counter_shadow);
    bool right = first == 40 && *counter == 142 && table[2499] == 7 && address == counter;
    printf("%s: %u %u %u\n", right ? "PASSED" : "FAILED", first, *counter, table[2499]);
    return right ? 0 : 1;
}
