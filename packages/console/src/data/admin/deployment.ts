import { bodyOf } from '../gateway.js';
import { type AdminSchemas, administration } from './gateway.js';

export type FiringAlarm = AdminSchemas['FiringAlarm'];
export type Queue = AdminSchemas['Queue'];
export type DeadLetter = AdminSchemas['DeadLetter'];

export const readState = () => bodyOf(administration.GET('/admin/state'));

export const listDeadLetters = () => bodyOf(administration.GET('/admin/dead-letters', {}));

const nameOf = ({ service, group, event_id }: DeadLetter) => ({ service, group, event_id });

export const replayDeadLetter = (deadLetter: DeadLetter) =>
  bodyOf(administration.POST('/admin/dead-letters/replay', { body: nameOf(deadLetter) }));

export const dismissDeadLetter = (deadLetter: DeadLetter, reason: string) =>
  bodyOf(administration.POST('/admin/dead-letters/dismiss', { body: { ...nameOf(deadLetter), reason } }));

export const readMasterKeys = () => bodyOf(administration.GET('/admin/master-keys'));
export type MasterKeys = Awaited<ReturnType<typeof readMasterKeys>>;

export const olderValues = ({ services }: MasterKeys) => services.reduce((sum, { older }) => sum + older, 0);

/** Seals block after block, until no value is left under an older key. */
export async function reseal(): Promise<MasterKeys> {
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    const state = await bodyOf(administration.POST('/admin/master-keys/reseal'));
    const older = olderValues(state);
    if (older === 0 || older >= before) return state;
    before = older;
  }
}

export const readRebuild = () => bodyOf(administration.GET('/admin/rebuilds/query'));

export const startRebuild = () => bodyOf(administration.POST('/admin/rebuilds/query'));
