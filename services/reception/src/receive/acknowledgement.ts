import { type DocumentNode, formatSignatureDateTime } from '@ecf/domain';
import { writeXml } from '@ecf/ecf-xml';
import { type SigningCertificate, signedLength, signXml } from '@ecf/xml-signing';
import type { Motive } from './motives.js';

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
