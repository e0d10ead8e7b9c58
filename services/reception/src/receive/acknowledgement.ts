import { type DocumentNode, formatSignatureDateTime, withoutAccents } from '@ecf/domain';
import { writeXml } from '@ecf/ecf-xml';
import { type SigningCertificate, signedLength, signXml } from '@ecf/xml-signing';

/** CodigoMotivoNoRecibido of an acknowledgement with Estado 1. Source: Formato Acuse de Recibo v1.0 p.5. */
export type Motive = 1 | 2 | 3 | 4;

/** The authority's words for each motive. */
export const MOTIVES: Readonly<Record<Motive, string>> = {
  1: 'Error de especificación',
  2: 'Error de Firma Digital',
  3: 'Envío duplicado',
  4: 'RNC Comprador no corresponde',
};

/** The content of an acknowledgement. It repeats the three identifiers as the document carried them. */
export interface AcknowledgementFacts {
  readonly issuerRnc: string;
  readonly buyerRnc: string;
  readonly encf: string;
  /** Null = received (Estado 0). */
  readonly motive: Motive | null;
  readonly at: Date;
}

/** An acknowledgement that is not signed yet. */
export interface AcknowledgementDraft {
  /** Bytes that the signed acknowledgement will have, so that they can be counted before the signature. */
  readonly length: number;
  /** The signed acknowledgement of receipt (Acuse de Recibo, ARECF). Source: Formato Acuse de Recibo v1.0 p.5. */
  sign(): Promise<Uint8Array>;
}

export function draftAcknowledgement(
  facts: AcknowledgementFacts,
  certificate: SigningCertificate,
): AcknowledgementDraft {
  const written = writeXml(acknowledgementTree(facts));
  return {
    length: signedLength(written, certificate),
    sign: async () => Buffer.from((await signXml(written, certificate)).xml, 'utf8'),
  };
}

/** A signed acknowledgement as bytes. */
export function signAcknowledgement(facts: AcknowledgementFacts, certificate: SigningCertificate): Promise<Uint8Array> {
  return draftAcknowledgement(facts, certificate).sign();
}

/** The tree of an acknowledgement. CodigoMotivoNoRecibido is left out for Estado 0: an empty tag is invalid. */
function acknowledgementTree(facts: AcknowledgementFacts): DocumentNode {
  return {
    ARECF: {
      DetalleAcusedeRecibo: {
        Version: '1.0',
        RNCEmisor: facts.issuerRnc,
        RNCComprador: facts.buyerRnc,
        eNCF: facts.encf,
        Estado: facts.motive === null ? '0' : '1',
        ...(facts.motive === null ? {} : { CodigoMotivoNoRecibido: String(facts.motive) }),
        FechaHoraAcuseRecibo: formatSignatureDateTime(facts.at),
      },
    },
  };
}

const LONGEST = 480;

/**
 * Motive and particulars as one line that any HTTP header can carry: printable ASCII, accents dropped, at most 480
 * characters. `2 Error de Firma Digital: The document was changed after it was signed.`
 */
export function rejectionReason(motive: Motive, particulars: string): string {
  const words = withoutAccents(`${motive} ${MOTIVES[motive]}: ${particulars}`)
    .replace(/[^\x20-\x7e]+/g, ' ')
    .trim();
  return words.length <= LONGEST ? words : `${words.slice(0, LONGEST - 3)}...`;
}
