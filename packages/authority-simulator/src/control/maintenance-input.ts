import { ENVIRONMENTS } from '@ecf/domain';
import type { Maintenance } from '../operations/maintenance.js';
import { ControlRefused, type JsonObject, oneOf, onlyMembers, readJson, text } from './input.js';

const MEMBERS = ['environment', 'start_time', 'end_time'];

/**
 * A list of `{environment, start_time, end_time}`, times in ISO 8601 with offset.
 *
 * @throws ControlRefused
 */
export function readMaintenance(body: Buffer): Maintenance[] {
  const windows = readJson(body);
  if (!Array.isArray(windows)) throw new ControlRefused('The body has to be a list of windows.');
  return windows.map((value: unknown) => {
    if (typeof value !== 'object' || value === null) throw new ControlRefused('A window has to be a JSON object.');
    const window = onlyMembers(value as JsonObject, MEMBERS, 'A window');
    const from = instant(window, 'start_time');
    const until = instant(window, 'end_time');
    if (from >= until) throw new ControlRefused('end_time has to be after start_time.');
    return { environment: oneOf(window, 'environment', ENVIRONMENTS), from, until };
  });
}

function instant(window: JsonObject, name: string): Date {
  const at = new Date(text(window, name) ?? '');
  if (!Number.isNaN(at.getTime())) return at;
  throw new ControlRefused(`${name} has to be a time in ISO 8601 with offset.`);
}
