import { OPERATIONS, type OperationId } from '@ecf/contracts';
import { answersSeen } from './client.js';

/** The operations of the interface that a scenario got a success from so far, through any of its clients. */
export function operationsServed(): Set<OperationId> {
  const good = answersSeen().filter(({ answer }) => answer.status < 300);
  return new Set(good.flatMap(({ place }) => operationOf(place) ?? []));
}

/** Of `METHOD /path?query`; a path that is written out wins over one with varying parts. */
function operationOf(place: string): OperationId | null {
  const [method, address = ''] = place.split(' ');
  const path = address.replace(/\?.*$/, '').replace(/(?<=.)\/+$/, '');
  const fitting = OPERATIONS.filter(
    (operation) => operation.method === method && pattern(operation.path).test(path),
  ).sort((one, other) => varying(one.path) - varying(other.path));
  return fitting[0]?.id ?? null;
}

const pattern = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
const varying = (path: string) => path.split('{').length;
