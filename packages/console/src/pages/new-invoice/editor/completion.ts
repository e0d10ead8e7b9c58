import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { syntaxTree } from '@codemirror/language';
import type { SyntaxNode } from '@lezer/common';
import { namesAround, namesIn } from './places.js';
import { codesOf, type Schema, schemaAt } from './schema.js';

/** Completes names and codes of a document from its JSON Schema. */
export function completeFrom(schema: () => Schema | null) {
  return (context: CompletionContext): CompletionResult | null => {
    const root = schema();
    const { state, pos, explicit } = context;
    const node = syntaxTree(state).resolveInner(pos, -1);
    const typed = ['PropertyName', 'String'].includes(node.name) ? node : null;
    if (root === null || (typed === null && !explicit)) return null;
    const from = typed?.from ?? pos;
    // Replaces the whole text in quotes, whose end may be missing.
    const to = typed === null ? pos : Math.max(pos, typed.to);
    const options =
      propertyOfValue(node) === null
        ? names(context, root, node, typed)
        : codes(schemaAt(root, namesAround(state, node)));
    return options.length === 0 ? null : { from, to, options, filter: true };
  };
}

/** The property whose value the node is, or stands in for; null for a name. */
function propertyOfValue(node: SyntaxNode): SyntaxNode | null {
  if (node.name === 'Property') return node;
  return node.name === 'String' && node.parent?.name === 'Property' ? node.parent : null;
}

function names({ state }: CompletionContext, root: Schema, node: SyntaxNode, typed: SyntaxNode | null): Completion[] {
  const object = enclosing(node);
  if (object === null) return [];
  const properties = schemaAt(root, namesAround(state, object))?.properties ?? {};
  const present = namesIn(state, object);
  const isHere = (name: string) => present.includes(name) && state.sliceDoc(typed?.from, typed?.to) !== `"${name}"`;
  return Object.entries(properties)
    .filter(([name]) => !isHere(name))
    .map(([name, { description }]) => ({
      label: `"${name}"`,
      displayLabel: name,
      type: 'property',
      ...(description && { info: description }),
      apply: typed?.nextSibling ? `"${name}"` : `"${name}": `,
    }));
}

function codes(schema: Schema | null): Completion[] {
  if (schema === null) return [];
  const info = schema.description;
  return codesOf(schema).map((code) => ({
    label: `"${code}"`,
    displayLabel: code,
    type: 'enum',
    ...(info && { info }),
  }));
}

function enclosing(node: SyntaxNode): SyntaxNode | null {
  for (let at: SyntaxNode | null = node; at !== null; at = at.parent) if (at.name === 'Object') return at;
  return null;
}
