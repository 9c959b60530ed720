/*
 * exemplar/author.h - the whole authoring library: meshes, file formats, projects, motion, baking, trajectories,
 * drivers, scans, pictures. It depends on the runtime (exemplar/exemplar.h), never the other way round. It allocates
 * with malloc and reads and writes files.
 */
#ifndef EXEMPLAR_AUTHOR_H
#define EXEMPLAR_AUTHOR_H

#include <exemplar/author/articulate.h>
#include <exemplar/author/bake.h>
#include <exemplar/author/base.h>
#include <exemplar/author/cache.h>
#include <exemplar/author/canvas.h>
#include <exemplar/author/capture.h>
#include <exemplar/author/clip.h>
#include <exemplar/author/colour.h>
#include <exemplar/author/displacement.h>
#include <exemplar/author/drive.h>
#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>
#include <exemplar/author/history.h>
#include <exemplar/author/image.h>
#include <exemplar/author/kinematics.h>
#include <exemplar/author/looks.h>
#include <exemplar/author/markers.h>
#include <exemplar/author/mesh.h>
#include <exemplar/author/motion.h>
#include <exemplar/author/picture.h>
#include <exemplar/author/project.h>
#include <exemplar/author/register.h>
#include <exemplar/author/scan.h>
#include <exemplar/author/scan_body.h>
#include <exemplar/author/scan_simulate.h>
#include <exemplar/author/scene.h>
#include <exemplar/author/trajectory.h>
#include <exemplar/exemplar.h>

#endif
