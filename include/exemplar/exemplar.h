/*
 * exemplar/exemplar.h - the whole runtime: a pose in, a surface out. It depends on libc and libm only.
 *
 * One header per area: base (errors, hooks) and maths, weigh (a point to weights), shape (weights to a form), pose (a
 * form moved by a skeleton), refine (a form to a finer surface, normals), settle (closest points and rays on a form),
 * rig (all of it in one immutable object). To play a rig, rig.h is enough. rig_create.h makes a rig from arrays,
 * rig_inspect.h looks inside, rig_pack.h packs it. Reading files, building and checking belong to authoring:
 * exemplar/author.h.
 */
#ifndef EXEMPLAR_EXEMPLAR_H
#define EXEMPLAR_EXEMPLAR_H

#include <exemplar/base.h>
#include <exemplar/maths.h>
#include <exemplar/pose.h>
#include <exemplar/predict.h>
#include <exemplar/refine.h>
#include <exemplar/rig.h>
#include <exemplar/rig_create.h>
#include <exemplar/rig_inspect.h>
#include <exemplar/rig_pack.h>
#include <exemplar/settle.h>
#include <exemplar/shape.h>
#include <exemplar/weigh.h>

#endif
