import { bodies } from './bodies.js';
import { documents } from './documents.js';
import type { Hostile } from './input.js';
import { signatures } from './signatures.js';

export type { Hostile } from './input.js';

/** What has to be refused, or taken without harm, whoever sends it. */
export const HOSTILE: readonly Hostile[] = [...documents, ...signatures, ...bodies];
