# A thin front to CMake: 'make help' lists what there is. Folders: build/ (one folder a preset) and out/ (results).

PREFIX ?= /usr/local
DESTDIR ?=
EX_WERROR ?= ON
# AUTO: the editor is built into the tool where what makes it is found, or can be installed; ON insists, OFF leaves it out.
EX_EDITOR ?=
export EX_EDITOR
RELEASE = build/release
DEMO = out/demo

.PHONY: all build demo test test-leaks test-clients install amalgamate bench format clean help

all: build

build:
	@scripts/setup build
	@cmake --preset release --log-level=WARNING $(if $(EX_EDITOR),-DEX_EDITOR=$(EX_EDITOR))
	@cmake --build --preset release

demo: build
	@mkdir -p $(DEMO)
	@$(RELEASE)/bin/exemplar demo -o $(DEMO) --force
	@echo
	@$(RELEASE)/bin/exemplar sheet $(DEMO)/blob/blob.glb --axes bend,thickness --beyond 0 --cell 140 -o $(DEMO)/blob.png
	@$(RELEASE)/bin/exemplar sheet $(DEMO)/arm/arm.glb --axes elbow,gender --grid 5x3 --beyond 0:0.1,0:0.5 --yaw 10 \
		--pitch 8 --cell 150 -o $(DEMO)/arm.png
	@$(RELEASE)/bin/exemplar render $(DEMO)/face/face.glb smile=1 age=0.2 skin.age=0.2 --yaw 30 --pitch 5 \
		--size 600x600 -o $(DEMO)/face.png
	@$(RELEASE)/bin/exemplar sheet $(DEMO)/elbow/elbow.glb --axes elbow,load --grid 5x2 --beyond 0 --yaw 10 --pitch 8 \
		--cell 150 -o $(DEMO)/elbow.png
	@$(RELEASE)/bin/exemplar sheet $(DEMO)/twist/twist.glb --axes twist --grid 4 --beyond 0 --yaw 10 --pitch 25 \
		--cell 240 -o $(DEMO)/twist.png
	@$(RELEASE)/bin/exemplar render $(DEMO)/shoulder/shoulder.glb shoulder=y-40z-40 --yaw 20 --pitch 8 \
		--size 600x600 -o $(DEMO)/shoulder.png
	@$(RELEASE)/bin/exemplar sheet $(DEMO)/emotion/emotion.glb --axes happiness,arousal --grid 5x3 --beyond 0 \
		--textures --cell 150 -o $(DEMO)/emotion.png
	@$(RELEASE)/bin/exemplar sheet $(DEMO)/bar/bar.glb --axes bend160 --grid 5 --beyond 0 --yaw 10 --pitch 8 \
		--cell 150 -o $(DEMO)/bar.png
	@$(RELEASE)/bin/exemplar sheet $(DEMO)/stretch/stretch.glb --axes t --grid 5 --beyond 0 --yaw 10 --pitch 8 \
		--cell 150 -o $(DEMO)/stretch.png
	@$(RELEASE)/bin/exemplar sheet $(DEMO)/cylinder/cylinder.glb --axes t --grid 5 --beyond 0 --yaw 0 --pitch 8 \
		--cell 150 -o $(DEMO)/cylinder.png
	@$(RELEASE)/bin/exemplar sheet $(DEMO)/creature/creature.glb --axes leap,sit --grid 3x3 --beyond 0 --yaw 15 --pitch 8 \
		--cell 180 -o $(DEMO)/creature.png
	@$(RELEASE)/bin/exemplar sheet $(DEMO)/heads/heads.glb --axes t --grid 5 --beyond 0 --yaw 30 --pitch 6 \
		--cell 150 -o $(DEMO)/heads.png
	@echo
	@echo 'The sample projects, their rigs and a picture of each are in $(DEMO)/. A .glb opens in any glTF viewer; a .json'
	@echo 'is a project: "$(RELEASE)/bin/exemplar edit $(DEMO)/blob/blob.json" opens it in the browser. Go on at README.md.'

test:
	@scripts/setup test
	@EX_WERROR=$(EX_WERROR) scripts/test

test-leaks:
	@scripts/setup test
	@EX_WERROR=$(EX_WERROR) EX_LEAKS=ON scripts/test

test-clients:
	@scripts/setup clients
	@EX_WERROR=$(EX_WERROR) scripts/test-clients

install: build
	@DESTDIR="$(DESTDIR)" cmake --install $(RELEASE) --prefix "$(PREFIX)"
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ] && command -v ldconfig >/dev/null; then ldconfig; fi

amalgamate:
	@scripts/amalgamate -o out

bench: build
	@$(RELEASE)/bin/exemplar bench

format:
	@find include src cli demos editor tests bench fuzz -name '*.[ch]' -o -name '*.inl' -o -name '*.cu' -o -name '*.cpp' 2>/dev/null \
	    | xargs clang-format -i

clean:
	rm -rf build out

help:
	@echo 'make            build the libraries and the tool, with the editor in it, into $(RELEASE)'
	@echo '                (EX_EDITOR=OFF: without the editor, and without what makes it)'
	@echo 'make demo       install what is missing, build, write the sample projects, their rigs and a picture of each into $(DEMO)'
	@echo 'make test       install what the tests need and run all of them (EX_WERROR=OFF: let warnings pass)'
	@echo 'make test-leaks have valgrind watch those of them that it can'
	@echo 'make test-clients'
	@echo '                install Blender, three.js and Chromium, and have them play what the tool bakes and open the editor'
	@echo 'make install    PREFIX=$(PREFIX) by default; DESTDIR for packagers'
	@echo 'make amalgamate  write the runtime as two files, out/exemplar.h and out/exemplar.c, to embed (docs/embedding.md)'
	@echo 'make bench      measure this machine'
	@echo 'make format     lay the sources out as .clang-format says'
	@echo 'make clean      remove build/ and out/'
