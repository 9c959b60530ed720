/* Lists the GPUs of this machine, which may have none, with the installed GPU runtime. */
#include <exemplar/cuda.h>

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    ex_error error = {.result = EX_OK};
    ex_cuda_device device;
    const int count = ex_cuda_device_count();
    const bool refused = ex_cuda_get_device(count, &device, &error) != EX_OK && error.text[0];
    printf("%s: %d GPUs; %s\n", ex_version().text, count, error.text);
    return argc == 2 && strcmp(argv[1], ex_version().text) == 0 && count >= 0 && refused ? 0 : 1;
}
