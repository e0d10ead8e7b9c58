import type { DocumentNode, DocumentValue, Fault } from '@ecf/domain';
import { TEXTS } from './texts.js';
import type { Message } from './verdict.js';

/**
 * The authority's message for a document with a wrong structure. It has code 3 with the sentence of the .NET schema
 * validator if that names an element, else code 1 without a sentence. The validator stops at the first fault, so there is
 * one message.
 */
export function schemaMessage(faults: readonly Fault[], tree: DocumentNode): Message {
  const [fault] = faults;
  const sentence = fault && sentenceOf(fault, tree);
  return sentence ? { code: '3', text: sentence } : TEXTS.format;
}

function sentenceOf(fault: Fault, tree: DocumentNode): string | null {
  const steps = fault.path.split('.');
  const field = bare(steps.at(-1) ?? '');
  const parent = bare(steps.at(-2) ?? '');
  switch (fault.rule.slice('schema.'.length)) {
    case 'unknown':
    case 'order':
    case 'repeat':
      return parent && `The element '${parent}' has invalid child element '${field}'.`;
    case 'required':
      return (
        parent && `The element '${parent}' has incomplete content. List of possible elements expected: '${field}'.`
      );
    case 'length':
      return invalidValue(field, fault.path, tree, 'The actual length is not valid for its datatype.');
    case 'pattern':
      return invalidValue(field, fault.path, tree, 'The Pattern constraint failed.');
    case 'enumeration':
      return invalidValue(field, fault.path, tree, 'The Enumeration constraint failed.');
    case 'type':
      return invalidValue(field, fault.path, tree, 'The string is not a valid value.');
    default:
      return null;
  }
}

function invalidValue(field: string, path: string, tree: DocumentNode, reason: string): string {
  const value = textAt(tree, path) ?? '';
  return `The '${field}' element is invalid - The value '${value}' is invalid according to its datatype - ${reason}`;
}

/** The text at a fault's path, or null if there is none. */
function textAt(tree: DocumentNode, path: string): string | null {
  let value: DocumentValue | undefined = tree;
  for (const step of path.split('.')) {
    const index = /\[(\d+)\]$/.exec(step)?.[1];
    value = typeof value === 'object' && !Array.isArray(value) ? value[bare(step)] : undefined;
    if (Array.isArray(value)) value = value[Number(index ?? 1) - 1];
  }
  return typeof value === 'string' ? value : null;
}

function bare(step: string): string {
  return step.replace(/\[\d+\]$/, '');
}
