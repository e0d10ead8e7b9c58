import {
  type DocumentNode,
  type DocumentValue,
  groupOf,
  groupsOf,
  integerOf,
  textOf,
} from '../../document/document-tree.js';
import { encfSequence, isEncf } from '../../identifiers.js';
import type { DocumentRule } from '../rule.js';
import { listed } from '../sources.js';

const SOURCE = 'Formato Anulación de e-NCF v1.0 pp.4-9';
const SINCE = '2022-05-24';

/** A range of numbers as written. */
interface CancelledRange {
  path: string;
  from: string;
  to: string;
  /** How many numbers it spans; null when it is not a range of one type in order. */
  quantity: number | null;
}

interface CancellationLine {
  path: string;
  /** NoLinea as written, all of them: the schema lets it repeat. */
  numbers: readonly string[];
  type: string | null;
  declared: number | null;
  ranges: readonly CancelledRange[];
}

/** A cancellation of numbers (ANECF) as the rules read it. */
export class CancellationView {
  readonly declared: number | null;
  readonly lines: readonly CancellationLine[];

  constructor(root: DocumentNode | null) {
    this.declared = count(groupOf(root, 'Encabezado'));
    this.lines = groupsOf(groupOf(root, 'DetalleAnulacion'), 'Anulacion').map(readLine);
  }
}

/** Rules of cancellations that need the document alone. */
export const CANCELLATION_RULES: readonly DocumentRule<CancellationView>[] = [
  {
    name: 'business.cancellation-line-order',
    code: null,
    appliesTo: ['ANECF'],
    verdict: 'rejects',
    evidence: listed('31-32', 'El campo NoLinea no es válido, no cumple orden secuencial'),
    source: `${SOURCE}; Descripción Técnica v1.6 pp.31-32`,
    since: SINCE,
    summary: 'NoLinea counts the lines from 1.',
    check({ lines }, report) {
      lines.forEach(({ path, numbers }, index) => {
        if (numbers.length > 0 && (numbers.length > 1 || numbers[0] !== String(index + 1))) {
          report(`${path}.NoLinea`, `NoLinea is ${numbers.join(', ')}, but this is line ${index + 1}`);
        }
      });
    },
  },
  {
    name: 'business.cancellation-number-format',
    code: null,
    appliesTo: ['ANECF'],
    verdict: 'rejects',
    evidence: listed('31-32', 'El tipo de comprobante no es válido'),
    source: SOURCE,
    since: SINCE,
    summary: 'Numbers to cancel are the letter E and twelve digits, their sequence greater than zero.',
    check({ lines }, report) {
      for (const { ranges } of lines) {
        for (const { path, from, to } of ranges) {
          for (const [name, number] of [
            [FROM, from],
            [TO, to],
          ] as const) {
            if (number !== '' && (!isEncf(number) || encfSequence(number) === 0)) {
              report(`${path}.${name}`, `${number} is not E and twelve digits with a sequence greater than zero`);
            }
          }
        }
      }
    },
  },
  {
    name: 'business.cancellation-type',
    code: null,
    appliesTo: ['ANECF'],
    verdict: 'rejects',
    evidence: listed('31-32', 'El tipo de comprobante no es válido'),
    source: SOURCE,
    since: SINCE,
    summary: 'Both numbers of a range are of the line’s TipoeCF.',
    check({ lines }, report) {
      for (const { type, ranges } of lines) {
        for (const { path, from, to } of ranges) {
          for (const [name, number] of [
            [FROM, from],
            [TO, to],
          ] as const) {
            if (type !== null && isEncf(number) && number.slice(1, 3) !== type) {
              report(`${path}.${name}`, `${number} is not of type ${type}`);
            }
          }
        }
      }
    },
  },
  {
    name: 'business.cancellation-range-order',
    code: null,
    appliesTo: ['ANECF'],
    verdict: 'rejects',
    evidence: listed('31-32', 'El valor del campo SecuenciaeNCFDesde es mayor al del campo SecuenciaeNCFHasta'),
    source: `${SOURCE}; Descripción Técnica v1.6 pp.31-32`,
    since: SINCE,
    summary: 'The first number of a range is not greater than the last.',
    check({ lines }, report) {
      for (const { ranges } of lines) {
        for (const { path, from, to } of ranges) {
          if (isEncf(from) && isEncf(to) && encfSequence(from)! > encfSequence(to)!) {
            report(`${path}.${FROM}`, `${from} is greater than ${to}`);
          }
        }
      }
    },
  },
  {
    name: 'business.cancellation-line-quantity',
    code: null,
    appliesTo: ['ANECF'],
    verdict: 'warns',
    source: SOURCE,
    since: SINCE,
    summary: 'CantidadeNCFAnulados of a line is the number of its eNCF.',
    check({ lines }, report) {
      for (const { path, declared, ranges } of lines) {
        const quantity = add(ranges.map((range) => range.quantity));
        if (declared !== null && quantity !== null && declared !== quantity) {
          report(`${path}.${QUANTITY}`, `${QUANTITY} is ${declared}, but the ranges contain ${quantity} numbers`);
        }
      }
    },
  },
  {
    name: 'business.cancellation-quantity',
    code: null,
    appliesTo: ['ANECF'],
    verdict: 'warns',
    source: SOURCE,
    since: SINCE,
    summary: 'CantidadeNCFAnulados of the document is the sum of its lines.',
    check({ declared, lines }, report) {
      const quantity = add(lines.map((line) => line.declared));
      if (declared !== null && quantity !== null && declared !== quantity) {
        report(`ANECF.Encabezado.${QUANTITY}`, `${QUANTITY} is ${declared}, but the lines add up to ${quantity}`);
      }
    },
  },
  {
    name: 'business.cancellation-overlap',
    code: null,
    appliesTo: ['ANECF'],
    verdict: 'warns',
    source: 'no published text: a number is cancelled once',
    since: SINCE,
    summary: 'No number is in two ranges.',
    check({ lines }, report) {
      const ranges = lines.flatMap((line) => line.ranges).filter((range) => range.quantity !== null);
      ranges.sort((one, other) => (one.from < other.from ? -1 : one.from > other.from ? 1 : 0));
      let last: CancelledRange | null = null;
      for (const range of ranges) {
        if (last !== null && range.from <= last.to) {
          report(`${range.path}.${FROM}`, `${range.from} to ${range.to} overlaps ${last.from} to ${last.to}`);
        }
        if (last === null || range.to > last.to) last = range;
      }
    },
  },
];

const FROM = 'SecuenciaeNCFDesde';
const TO = 'SecuenciaeNCFHasta';
const QUANTITY = 'CantidadeNCFAnulados';

function readLine(node: DocumentNode, index: number): CancellationLine {
  const path = `ANECF.DetalleAnulacion.Anulacion[${index + 1}]`;
  const table = groupOf(node, 'TablaRangoSecuenciasAnuladaseNCF');
  return {
    path,
    numbers: texts(node.NoLinea).map((_, position, all) => integerOf({ NoLinea: all[position]! }, 'NoLinea')!),
    type: integerOf(node, 'TipoeCF'),
    declared: count(node),
    ranges: groupsOf(table, 'Secuencias').map((range, position) => readRange(range, path, position)),
  };
}

function readRange(node: DocumentNode, line: string, index: number): CancelledRange {
  const from = textOf(node, FROM) ?? '';
  const to = textOf(node, TO) ?? '';
  const ordered = isEncf(from) && isEncf(to) && from.slice(0, 3) === to.slice(0, 3) && from <= to;
  return {
    path: `${line}.TablaRangoSecuenciasAnuladaseNCF.Secuencias[${index + 1}]`,
    from,
    to,
    quantity: ordered ? encfSequence(to)! - encfSequence(from)! + 1 : null,
  };
}

/** CantidadeNCFAnulados; up to ten digits, so a number holds it. */
function count(node: DocumentNode | null): number | null {
  const text = integerOf(node, QUANTITY);
  return text !== null && /^[0-9]{1,15}$/.test(text) ? Number(text) : null;
}

function add(values: readonly (number | null)[]): number | null {
  let total = 0;
  for (const value of values) {
    if (value === null) return null;
    total += value;
  }
  return values.length > 0 ? total : null;
}

function texts(value: DocumentValue | undefined): readonly string[] {
  const list = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return list.filter((entry): entry is string => typeof entry === 'string');
}
