# A thin front to CMake: 'make help' lists what there is. Folders: build/ (one folder a preset) and out/ (results).

PREFIX ?= /usr/local
DESTDIR ?=
EX_WERROR ?= ON
RELEASE = build/release
DEMO = out/demo

.PHONY: all build demo test install bench format clean help

all: build

build:
	@scripts/setup build
	@cmake --preset release --log-level=WARNING
	@cmake --build --preset release

demo: build
	@mkdir -p $(DEMO)
	@$(RELEASE)/bin/exemplar demo -o $(DEMO) --force
	@echo
	@echo 'The sample projects and their rigs are in $(DEMO)/. A .glb opens in any glTF viewer; a .json is the project to'
	@echo 'edit, and "$(RELEASE)/bin/exemplar build PROJECT.json" makes its rig again. Start reading at README.md.'

test:
	@scripts/setup test
	@EX_WERROR=$(EX_WERROR) scripts/test

install: build
	@DESTDIR="$(DESTDIR)" cmake --install $(RELEASE) --prefix "$(PREFIX)"
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ] && command -v ldconfig >/dev/null; then ldconfig; fi

bench: build
	@$(RELEASE)/bin/exemplar bench

format:
	@find include src cli demos tests bench fuzz -name '*.[ch]' -o -name '*.inl' -o -name '*.cpp' 2>/dev/null \
	    | xargs clang-format -i

clean:
	rm -rf build out

help:
	@echo 'make            build the libraries and the tool into $(RELEASE)'
	@echo 'make demo       install what is missing, build, write the sample projects and build them into $(DEMO)'
	@echo 'make test       install what the tests need and run all of them (EX_WERROR=OFF: let warnings pass)'
	@echo 'make install    PREFIX=$(PREFIX) by default; DESTDIR for packagers'
	@echo 'make bench      measure this machine'
	@echo 'make format     lay the sources out as .clang-format says'
	@echo 'make clean      remove build/ and out/'
