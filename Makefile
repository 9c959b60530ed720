# A thin front to CMake: 'make help' lists what there is. Folders: build/ (one folder a preset) and out/ (results).

PREFIX ?= /usr/local
DESTDIR ?=
EX_WERROR ?= ON
# The scripts read EX_EDITOR, EX_CUDA, EX_DATA and VERBOSE, given here ("make EX_CUDA=ON") or by the environment.
RELEASE = build/release
DEMO = out/demo

.PHONY: all setup build demo pictures docs test test-memory test-clients fuzz deb test-deb install amalgamate wheel blender bench format clean help

all: build

# FOR=build: for building alone; FOR=clients: for test-clients; FOR=docs: for docs; FOR=deb: for deb and test-deb.
FOR ?= test
setup:
	@scripts/setup $(FOR)

build:
	@scripts/build

demo:
	@scripts/demo

docs:
	@scripts/docs

pictures:
	@scripts/pictures

test:
	@EX_WERROR=$(EX_WERROR) scripts/test

test-memory:
	@EX_WERROR=$(EX_WERROR) EX_MEMORY=ON scripts/test

test-clients:
	@EX_WERROR=$(EX_WERROR) scripts/test-clients

TARGET ?= all
SECONDS ?= 60
fuzz:
	@scripts/fuzz $(TARGET) $(SECONDS)

deb:
	@scripts/deb

test-deb:
	@scripts/deb --test

install: build
	@DESTDIR="$(DESTDIR)" cmake --install $(RELEASE) --prefix "$(PREFIX)"
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ] && command -v ldconfig >/dev/null; then ldconfig; fi

amalgamate:
	@scripts/amalgamate -o out

wheel: build
	@scripts/wheel

blender: build
	@scripts/blender-addon

bench: build
	@$(RELEASE)/bin/exemplar bench

format:
	@find include src cli demos editor tests bench fuzz -name '*.[ch]' -o -name '*.inl' -o -name '*.cu' -o -name '*.cpp' 2>/dev/null \
	    | xargs clang-format -i

clean:
	rm -rf build out dist

help:
	@echo 'make            build the libraries and the tool, with the editor in it, into $(RELEASE)'
	@echo '                (EX_EDITOR=OFF: without the editor; EX_CUDA=ON: with the GPU runtime; VERBOSE=1: show all output)'
	@echo 'make demo       build, make the sample projects and rigs, and a page of their pictures: $(DEMO)/index.html'
	@echo '                (OPEN=no: do not open it in a browser)'
	@echo 'make docs       build, and make the documentation site in out/docs, which opens from disk and has a search'
	@echo 'make pictures   build, and draw the moving pictures of the README again, docs/pictures/hero-*.png'
	@echo 'make test       run the tests of the libraries and the tool (EX_WERROR=OFF: let warnings pass; EX_DATA=DIR: data'
	@echo '                beyond the repository)'
	@echo 'make test-memory'
	@echo '                have sanitizers (addresses, undefined behaviour, threads) and valgrind watch those that they can'
	@echo 'make test-clients'
	@echo '                run the commands of the pages, build with clang, for other machines and the GPU, have Blender, three.js'
	@echo '                and Chromium play what the tool bakes and open the editor, and start a Slurm'
	@echo 'make fuzz       fuzz the readers, each for a minute (TARGET=NAME: only fuzz/fuzz_NAME.c; SECONDS=600); needs clang'
	@echo 'make setup      install what building and testing need (FOR=build: building alone; FOR=clients: test-clients;'
	@echo '                FOR=docs: make docs; FOR=deb: make deb); the commands above and make deb call it, each for its own needs'
	@echo 'make install    PREFIX=$(PREFIX) by default; DESTDIR for packagers'
	@echo 'make deb        make Debian packages in out/deb: the libraries, their headers, the tool with manual pages'
	@echo '                (EX_EDITOR=OFF: without the editor)'
	@echo 'make test-deb   make them, install them on this machine, use them and remove them; needs root'
	@echo 'make amalgamate  write the runtime as two files, out/exemplar.h and out/exemplar.c, to embed (docs/guides/embed.md)'
	@echo 'make wheel       build the Python package, dist/exemplar-VERSION-….whl'
	@echo 'make blender     build the add-on for Blender, dist/exemplar-blender-VERSION-….zip'
	@echo 'make bench      measure this machine'
	@echo 'make format     lay the sources out as .clang-format says'
	@echo 'make clean      remove build/, out/ and dist/'
