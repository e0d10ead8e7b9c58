import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { formatSignatureDateTime } from '@ecf/domain';
import { writeXml } from '@ecf/ecf-xml';
import { openCertificate, signXml } from '@ecf/xml-signing';
import { testCertificate } from '../client.js';

/** A buyer's receiver outside the deployment: Estado 0 for a new document, motive 3 for a repeat. */
export interface BuyerReceiver {
  readonly url: string;
  /** The eNCF of every delivery, in order. */
  readonly reached: readonly string[];
  /** While true, it receives documents and never answers. */
  silent: boolean;
  stop(): Promise<void>;
}

export async function startBuyerReceiver(rnc: string): Promise<BuyerReceiver> {
  const { p12, password } = testCertificate(rnc);
  const certificate = openCertificate(p12, password);
  const reached: string[] = [];
  const receiver = { silent: false };

  async function acknowledge(xml: string, res: ServerResponse): Promise<void> {
    const text = (name: string) => new RegExp(`<${name}>([^<]+)`).exec(xml)?.[1] ?? '';
    const eNCF = text('eNCF');
    const again = reached.includes(eNCF);
    reached.push(eNCF);
    if (receiver.silent) return;
    const DetalleAcusedeRecibo = {
      Version: '1.0',
      RNCEmisor: text('RNCEmisor'),
      RNCComprador: rnc,
      eNCF,
      Estado: again ? '1' : '0',
      ...(again ? { CodigoMotivoNoRecibido: '3' } : {}),
      FechaHoraAcuseRecibo: formatSignatureDateTime(new Date()),
    };
    const signed = await signXml(writeXml({ ARECF: { DetalleAcusedeRecibo } }), certificate);
    res.setHeader('content-type', 'application/xml').end(signed.xml);
  }

  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    await acknowledge(Buffer.concat(chunks).toString('utf8'), res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(receiver, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reached,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
