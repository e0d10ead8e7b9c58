import { type DocumentNode, formatSignatureDateTime } from '@ecf/domain';
import { writeXml } from '@ecf/ecf-xml';
import { type SigningCertificate, signXml } from '@ecf/xml-signing';
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

/** A signed acknowledgement of receipt (Acuse de Recibo, ARECF) as bytes. Source: Formato Acuse de Recibo v1.0 p.5. */
export async function signAcknowledgement(
  facts: AcknowledgementFacts,
  certificate: SigningCertificate,
): Promise<Uint8Array> {
  const { xml } = await signXml(writeXml(acknowledgementTree(facts)), certificate);
  return Buffer.from(xml, 'utf8');
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
