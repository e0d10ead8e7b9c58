import { ensureSyntaxTree, syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';
import type { SyntaxNode } from '@lezer/common';

/** A part of the text. */
export interface Part {
  readonly from: number;
  readonly to: number;
}

/**
 * The part of the text that a fault is about, by its path (`ECF.DetallesItems.Item[2].MontoItem`): the property with its value, or
 * the name of the nearest group around it that is there. Without a path, where the text stops being JSON.
 */
export function partAt(state: EditorState, path: string): Part {
  let part = path === '' ? brokenPart(state) : FIRST;
  let value: SyntaxNode | null = treeOf(state).topNode.firstChild;
  for (const [name, position] of stepsOf(path)) {
    const property = value && propertyOf(state, value, name);
    if (!property) break;
    value = entryOf(property.lastChild, position);
    const isGroup = value?.name === 'Object' || value?.name === 'Array';
    part = isGroup ? partOfGroup(property, position === null ? null : value) : property;
  }
  return { from: part.from, to: part.to };
}

const FIRST: Part = { from: 0, to: 1 };

/** Longest parse of the text in milliseconds. By itself, the editor parses a new text for a few milliseconds only. */
const PARSE_MS = 1_000;

function treeOf(state: EditorState) {
  return ensureSyntaxTree(state, state.doc.length, PARSE_MS) ?? syntaxTree(state);
}

function brokenPart(state: EditorState): Part {
  let broken = FIRST;
  treeOf(state).iterate({
    enter: ({ type, from, to }) => {
      if (type.isError && broken === FIRST) broken = { from, to: Math.min(Math.max(to, from + 1), state.doc.length) };
    },
  });
  return broken;
}

/** The names of the properties around a node, outermost first; lists are left out. */
export function namesAround(state: EditorState, node: SyntaxNode): string[] {
  const names: string[] = [];
  for (let at: SyntaxNode | null = node; at !== null; at = at.parent) {
    const name = at.name === 'Property' ? nameOf(state, at) : null;
    if (name !== null) names.unshift(name);
  }
  return names;
}

/** The names that an object of the text has. */
export function namesIn(state: EditorState, object: SyntaxNode): string[] {
  return object.getChildren('Property').flatMap((property) => nameOf(state, property) ?? []);
}

/** `Item[2]` is the name `Item` and the position 2; without a position it is null. */
function stepsOf(path: string): [name: string, position: number | null][] {
  return path.split('.').map((step) => {
    const at = step.indexOf('[');
    return at < 0 ? [step, null] : [step.slice(0, at), Number(step.slice(at + 1, -1))];
  });
}

function nameOf(state: EditorState, property: SyntaxNode): string | null {
  const name = property.getChild('PropertyName');
  return name && state.sliceDoc(name.from + 1, name.to - 1);
}

function propertyOf(state: EditorState, object: SyntaxNode, wanted: string): SyntaxNode | undefined {
  return object.getChildren('Property').find((property) => nameOf(state, property) === wanted);
}

/** The entry of a list at a position from 1; a value that is not a list is its own only entry. */
function entryOf(value: SyntaxNode | null, position: number | null): SyntaxNode | null {
  if (value?.name !== 'Array' || position === null) return value;
  return ['Object', 'Array', 'String', 'Number'].flatMap((kind) => value.getChildren(kind))[position - 1] ?? null;
}

/** The opening bracket of an entry, else the name of the group. */
function partOfGroup(property: SyntaxNode, entry: SyntaxNode | null): Part {
  if (entry !== null) return { from: entry.from, to: entry.from + 1 };
  return property.getChild('PropertyName') ?? property;
}
