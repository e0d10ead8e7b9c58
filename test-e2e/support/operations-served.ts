import { OPERATIONS } from '@ecf/contracts';
import { answersSeen } from './client.js';

/** The operations that answered a scenario with success so far, through any of its clients. */
export function operationsServed(): Set<string> {
  const successes = answersSeen().filter(({ answer }) => answer.status < 300);
  return new Set(successes.flatMap(({ place }) => operationOf(place) ?? []));
}

/** The operation of `METHOD /path?query`; a literal path wins over one with parameters. */
function operationOf(place: string): string | null {
  const [method, address = ''] = place.split(' ');
  const path = address.replace(/\?.*$/, '').replace(/(?<=.)\/+$/, '');
  const fitting = OPERATIONS.filter(
    (operation) => operation.method === method && pattern(operation.path).test(path),
  ).sort((one, other) => varying(one.path) - varying(other.path));
  return fitting[0]?.id ?? null;
}

const pattern = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
const varying = (path: string) => path.split('{').length;
