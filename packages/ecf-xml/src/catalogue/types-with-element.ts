import { ECF_TYPES, type EcfType } from '@ecf/domain';
import { ECF_ELEMENTS } from './ecf-elements.js';

let index: Map<string, EcfType[]> | null = null;

/** The types of e-CF that have an element of that name in a group of that name. */
export function typesWithElement(group: string, name: string): readonly EcfType[] {
  index ??= buildIndex();
  return index.get(`${group}/${name}`) ?? [];
}

function buildIndex(): Map<string, EcfType[]> {
  const found = new Map<string, EcfType[]>();
  const groups: string[] = [];
  for (const line of ECF_ELEMENTS.split('\n').filter((each) => each.trim() !== '')) {
    const depth = line.search(/\S/) / 2;
    const [name = '', presence = ''] = line.trim().split(/\s+/);
    groups[depth] = name;
    if (depth > 0)
      found.set(
        `${groups[depth - 1]}/${name}`,
        ECF_TYPES.filter((_, column) => presence[column] !== '.'),
      );
  }
  return found;
}
