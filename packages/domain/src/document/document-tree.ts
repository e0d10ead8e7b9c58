import { areDigits } from '../text/digits.js';

/**
 * A document as a tree: a root object with its root key (`{ECF: {...}}`). Leaves are text as written. Repeatable elements
 * are always arrays, others never. Groups without content are absent.
 */
export type DocumentValue = string | DocumentNode | DocumentValue[];

export interface DocumentNode {
  [element: string]: DocumentValue;
}

/** The child group of that name, or null when it is absent or not a group. */
export function groupOf(node: DocumentNode | null, name: string): DocumentNode | null {
  const value = node?.[name];
  return isGroup(value) ? value : null;
}

/** The text of the child of that name as written, or null when it is absent or not a leaf. */
export function textOf(node: DocumentNode | null, name: string): string | null {
  const value = node?.[name];
  return typeof value === 'string' ? value : null;
}

/**
 * The child's value as XSD reads an integer: blanks around it, a plus sign and leading zeros do not count (`+031` is `31`).
 * Null if it is absent or not a leaf; other text is returned trimmed.
 */
export function integerOf(node: DocumentNode | null, name: string): string | null {
  const text = textOf(node, name);
  if (text === null) return null;
  if (text.charCodeAt(0) !== ZERO && areDigits(text, 0, text.length)) return text;
  const digits = /^[ \t\r\n]*\+?([0-9]+)[ \t\r\n]*$/.exec(text)?.[1];
  return digits?.replace(/^0+([0-9])/, '$1') ?? text.trim();
}

const ZERO = 48;

/** The groups of a repeatable child, in order. Values that are not groups are left out; a single group counts as a list of one. */
export function groupsOf(node: DocumentNode | null, name: string): DocumentNode[] {
  const value = node?.[name];
  if (Array.isArray(value)) return value.every(isGroup) ? (value as DocumentNode[]) : value.filter(isGroup);
  return isGroup(value) ? [value] : [];
}

function isGroup(value: DocumentValue | undefined): value is DocumentNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
