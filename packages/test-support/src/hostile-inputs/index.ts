import { bodies } from './bodies.js';
import { documents } from './documents.js';
import type { Hostile } from './input.js';
import { signatures } from './signatures.js';

export type { Hostile } from './input.js';

/** Inputs that the public routes must refuse, or accept without harm. */
export const HOSTILE: readonly Hostile[] = [...documents, ...signatures, ...bodies];
