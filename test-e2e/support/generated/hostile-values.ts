import type { Random } from './random.js';

const TEXTS = [
  '',
  ' ',
  '0',
  '-1',
  '1.5',
  '1e309',
  'NaN',
  'null',
  'undefined',
  'true',
  '[object Object]',
  '99999999999999999999999999',
  '9007199254740993',
  '2147483648',
  '00000000000',
  '199999991 ',
  '１９９９９９９９１',
  'E31000000000１',
  'e310000000001',
  'E310000000001\n',
  '31-02-2026',
  '99-99-9999',
  '01-01-0000',
  '2026-06-15',
  '../../etc/passwd',
  "' OR 1=1 --",
  '%00',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udfff\ud800',
  'ñandú €',
  '\u202e\u200b\ufeff',
  '👩‍👩‍👧‍👦',
  'é'.normalize('NFD'),
  '<script>',
  '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
  '{{7*7}}',
  '__proto__',
  'constructor',
  '\r\nx: y',
  'A'.repeat(3_000),
  'Ω'.repeat(700),
];

const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  -0,
  1.5,
  1e300,
  Number.MAX_SAFE_INTEGER,
  -Number.MAX_SAFE_INTEGER,
  [],
  {},
  [[]],
  [null],
  { '': '' },
  { toString: 'x' },
  Array.from({ length: 300 }, (_, index) => index),
];

/** Text that is wrong or unusual in many ways. */
export function hostileText(random: Random): string {
  if (random.chance(0.85)) return random.pick(TEXTS);
  return String.fromCodePoint(
    ...Array.from({ length: 1 + random.below(20) }, () =>
      random.chance(0.5) ? random.below(128) : random.below(0x10ffff),
    ),
  );
}

/** Any JSON value. */
export function hostileValue(random: Random): unknown {
  return random.chance(0.5) ? hostileText(random) : structuredClone(random.pick(VALUES));
}

/** The value with one place changed, removed or added. */
export function disturbed(value: unknown, random: Random): unknown {
  const copy = structuredClone(value) as unknown;
  const places: [holder: Record<string, unknown>, key: string][] = [];
  const visit = (at: unknown): void => {
    if (typeof at !== 'object' || at === null) return;
    for (const key of Object.keys(at)) {
      places.push([at as Record<string, unknown>, key]);
      visit((at as Record<string, unknown>)[key]);
    }
  };
  visit(copy);
  if (places.length === 0) return hostileValue(random);
  const [holder, key] = random.pick(places);
  const kind = random.below(4);
  if (kind === 0) {
    if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else delete holder[key];
  } else if (kind === 1 && !Array.isArray(holder)) holder[`${key}_${random.below(10)}`] = hostileValue(random);
  else if (kind === 2 && typeof holder[key] === 'object') holder[key] = [holder[key], holder[key]];
  else holder[key] = hostileValue(random);
  return copy;
}
