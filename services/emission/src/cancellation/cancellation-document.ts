import { createHash } from 'node:crypto';
import { type DocumentNode, formatSignatureDateTime, toCalendarDate } from '@ecf/domain';
import { encfOf } from '@ecf/domain/number-set';
import { examineJson, writeXml } from '@ecf/ecf-xml';
import { type SigningCertificate, signXml } from '@ecf/xml-signing';
import type { StoredFile } from '../attempt/attempt.js';
import { EmissionError } from '../errors.js';
import type { CancellationRequest } from './request.js';

/** The tree of a cancellation. Source: Formato Anulación de e-NCF v1.0 pp.4-7. */
function cancellationTree({ issuerRnc, version, total, lines }: CancellationRequest, generatedAt: Date): DocumentNode {
  return {
    ANECF: {
      Encabezado: {
        Version: version,
        RncEmisor: issuerRnc,
        CantidadeNCFAnulados: String(total),
        FechaHoraAnulacioneNCF: formatSignatureDateTime(generatedAt),
      },
      DetalleAnulacion: {
        Anulacion: lines.map((line, index) => ({
          NoLinea: [String(index + 1)],
          TipoeCF: line.type,
          TablaRangoSecuenciasAnuladaseNCF: { Secuencias: rows(line.type, line.ranges) },
          CantidadeNCFAnulados: String(line.total),
        })),
      },
    },
  };
}

function rows(type: string, ranges: readonly number[]): DocumentNode[] {
  const all: DocumentNode[] = [];
  for (let at = 0; at < ranges.length; at += 2)
    all.push({
      SecuenciaeNCFDesde: encfOf(type, ranges[at] as number),
      SecuenciaeNCFHasta: encfOf(type, ranges[at + 1] as number),
    });
  return all;
}

/** The bytes to be stored and sent, and where they are stored. */
export interface SignedCancellation extends StoredFile {
  readonly bytes: Uint8Array;
}

/** The signed document and where it is kept: `<env>/anecf/<issuer RNC>/issued/<yyyy>/<mm>/<RNC>-<checksum>.xml`. */
export async function signCancellation(
  request: CancellationRequest,
  generatedAt: Date,
  certificate: SigningCertificate,
  now: Date,
): Promise<SignedCancellation> {
  const tree = cancellationTree(request, generatedAt);
  const { faults } = examineJson(tree, { now });
  if (faults.length > 0) {
    const items = faults.slice(0, 100).map(({ message, rule }) => ({ loc: ['body'], msg: message, type: rule }));
    throw new EmissionError('validation_error', 'The cancellation has faults.', { items });
  }
  const { xml } = await signXml(writeXml(tree), certificate);
  const bytes = Buffer.from(xml, 'utf8');
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const [year, month] = toCalendarDate(now).split('-');
  const { env, issuerRnc } = request;
  return { path: `${env}/anecf/${issuerRnc}/issued/${year}/${month}/${issuerRnc}-${sha256}.xml`, sha256, bytes };
}
