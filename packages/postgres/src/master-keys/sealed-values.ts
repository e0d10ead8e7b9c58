import { ConfigError, EARLIER_LAYOUT, PRESENT_LAYOUT, type SealingKeys } from '@ecf/kit';

/** Sealed values of one kind in a service's database. */
export interface SealedValues {
  /** How many of them do not begin with `head`, which has at most `SEAL_HEAD` bytes. */
  count(head: Uint8Array): Promise<number>;
  /** Seals up to `limit` of those anew, and answers how many. */
  reseal(head: Uint8Array, limit: number): Promise<number>;
}

/**
 * Refuses to start with SEALING_KEYS while the service keeps values that an earlier version sealed under the master key itself.
 * @throws ConfigError
 */
export async function requireNoEarlierLayout(
  sealingKeys: Pick<SealingKeys, 'setting'>,
  values: readonly Pick<SealedValues, 'count'>[],
): Promise<void> {
  if (sealingKeys.setting === 'MASTER_KEY') return;
  for (const kind of values)
    if ((await kind.count(PRESENT_LAYOUT)) > 0)
      throw new ConfigError([
        { variable: 'SEALING_KEYS', message: `do not open all stored values. ${EARLIER_LAYOUT}` },
      ]);
}
