import type { ElementRule } from '../../src/catalogue/element-rules.js';
import type { Random } from './random.js';

/** Values at the limits of some type: formats, signs, blanks, digits of other scripts, unusual characters. */
const BORDERLINE: readonly string[] = [
  ...[
    '',
    ' ',
    '  ',
    '\n',
    '\t',
    '\u00a0',
    '0',
    '1',
    '2',
    '9',
    '10',
    '01',
    '007',
    '+1',
    '-1',
    '-0',
    '+0',
    ' 1',
    '1 ',
    '\n1\t',
  ],
  ...[
    '1.',
    '.5',
    '1.0',
    '1.00',
    '1.000',
    '+1.0',
    '01.0',
    '1e1',
    'INF',
    'NaN',
    '1,0',
    '1 0',
    '0x1',
    '--1',
    '+-1',
    '１',
    '٣',
  ],
  ...[
    '0.00',
    '0.01',
    '0.001',
    '-0.01',
    '99',
    '100',
    '999',
    '1000',
    '1001',
    '9999',
    '10000',
    '10001',
    '99999',
    '100000',
  ],
  ...[
    '12345',
    '123456',
    '123456.78',
    '01234567',
    '12345678',
    '123.456',
    '123.4567',
    '123.45678',
    '1234.5',
    '100x50',
    '1x5',
  ],
  ...['1234567890123456', '1234567890123456.78', '12345678901234567', '123456789012345678', '1234567890123456789'],
  ...['12345678901234567890', '123456789012345678901', '1234567890123456.123', '1234567890123456.1234', '0'.repeat(40)],
  ...[
    '133470616',
    '13347061',
    '1334706160',
    '00112345678',
    '001-1234567-8',
    '133470616 ',
    '１３３４７０６１６',
    '1234567890123456789',
  ],
  ...[
    '31-12-2020',
    '1-1-2020',
    '31-02-2026',
    '32-01-2020',
    '00-01-2020',
    '31/12/2020',
    '2020-12-31',
    '01-13-2020',
    '01-01-1899',
  ],
  ...[
    '01-01-2100',
    '1$-01-2020',
    '2$-1-2020',
    ' 31-12-2020',
    '31-12-2020\n',
    '31-12-20٢٠',
    '01-02-2026 10:11:12',
    '1-2-2026 10:11:12',
  ],
  ...[
    '01-02-2026 24:00:00',
    '01-02-2026 9:1:2',
    '01-02-2026  10:11:12',
    '01-02-2026T10:11:12',
    '2026-01-31T09:30:00',
    '24:00:00',
  ],
  ...[
    'a@b.co',
    'a_b@c.de',
    'a+b@c.de',
    'a@b',
    'a..b@c.de',
    'a@b-.c',
    'ñ@ñ.ñ',
    '+@+.+',
    'a@b.c.d-e',
    '809-555-1234',
    '8095551234',
  ],
  ...[
    '809-555-12345',
    '８０９-555-1234',
    'N/A',
    '30 días.',
    'a_b',
    'a–b',
    'a’b',
    'a\nb',
    'Juan',
    'Juan!',
    '^Juan$',
    'Juan2',
    'José,Ana',
  ],
  ...[
    'FOB',
    'FO1',
    'F1B',
    '1OB',
    'FO',
    'ABCD',
    'CT',
    'ct',
    ' CT',
    '$',
    '%',
    'D',
    'd',
    'USD',
    'usd',
    'DOP',
    '010000',
    '10000',
    '320703',
  ],
  ...[
    '001',
    '039',
    '040',
    '1.0',
    '1',
    '10',
    '31',
    '32',
    '33',
    '47',
    '42',
    '+31',
    ' 31 ',
    '031',
    '-31',
    '31.0',
    'E310000000001',
  ],
  ...[
    'E31000000000',
    'E3100000000011',
    'e310000000001',
    'E31000000000Ñ',
    'E31000000000 ',
    'true',
    'null',
    '©',
    '€',
    '😀',
    '😀'.repeat(6),
  ],
  ...[
    '\u2028',
    '\u0085',
    '\ufeff1',
    '1\u200b',
    '\u{10fffd}',
    '\ue000',
    '\u0378',
    'İ',
    '中文',
    '&',
    '<',
    '"',
    "'",
    ']]>',
    '&amp;',
    '&#49;',
  ],
];

const ODD_CHARACTERS = [
  ' ',
  '\n',
  '\t',
  '\r',
  '0',
  '1',
  '9',
  '.',
  '-',
  '+',
  'a',
  'Z',
  'ñ',
  '_',
  '@',
  '$',
  '%',
  ',',
  '\u00a0',
  '٣',
  '１',
  '😀',
  '&',
];

/** A value that the rule may or may not accept. */
export function trickyValue(rule: ElementRule | undefined, present: string, random: Random): string {
  const type = rule?.type;
  switch (random.below(7)) {
    case 0:
    case 1:
      return random.pick(BORDERLINE);
    case 2: {
      const lengths = [type?.minLength, type?.maxLength, type?.totalDigits, 13, 15, 19].filter(
        (each) => each !== undefined,
      );
      const length = Math.max(0, random.pick(lengths) + random.below(3) - 1);
      return random.pick(['a', '1', 'ñ', ' ', '9', 'x', '😀', '&']).repeat(length);
    }
    case 3:
      return present.repeat(1 + random.below(3)) + random.pick(['', '0', 'x', ' ']);
    case 4:
      return random.pick([' ', '\n', '+', '-', '0', '00', '\t', '\u00a0']) + present;
    case 5:
      return present + random.pick([' ', '\n', '.', '0', '.0', '.00', '\r', '\u00a0']);
    default:
      return edited(present, random);
  }
}

function edited(text: string, random: Random): string {
  const characters = [...text];
  for (let edits = 1 + random.below(3); edits > 0; edits--) {
    const at = random.below(characters.length + 1);
    const removed = random.below(2);
    characters.splice(at, removed, ...(random.chance(0.7) ? [random.pick(ODD_CHARACTERS)] : []));
  }
  return characters.join('');
}
