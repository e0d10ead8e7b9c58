// The buyers' receivers of delivery.bench.ts, in a process of their own: some acknowledge, some never answer. Answers the
// message {buyers, hung} with the base address of each, by RNC.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { formatSignatureDateTime } from '@ecf/domain';
import { writeXml } from '@ecf/ecf-xml';
import { signXml } from '@ecf/xml-signing';
import { certificate, ISSUER } from '../inputs/sample.js';

/** Receivers share addresses and differ by path; few real ones share a host. */
const PER_ADDRESS = 10;

const signer = certificate();

function acknowledging(): Server {
  return createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', async () => {
      const [, buyer = ''] = (req.url ?? '').split('/');
      const encf = /filename="?\d+?(E\d{12})\.xml/.exec(Buffer.concat(chunks).toString('latin1', 0, 2_000))?.[1] ?? '';
      const detail = {
        Version: '1.0',
        RNCEmisor: ISSUER,
        RNCComprador: buyer,
        eNCF: encf,
        Estado: '0',
        FechaHoraAcuseRecibo: formatSignatureDateTime(new Date()),
      };
      const { xml } = await signXml(writeXml({ ARECF: { DetalleAcusedeRecibo: detail } }), signer.certificate);
      res.setHeader('content-type', 'application/xml').end(xml);
    });
  });
}

const hanging = () => createServer((req) => void req.resume());

process.on('message', async ({ buyers, hung }: { buyers: string[]; hung: string[] }) => {
  const addresses: Record<string, string> = {};
  for (const [rncs, make] of [[buyers, acknowledging] as const, [hung, hanging] as const]) {
    for (let at = 0; at < rncs.length; at += PER_ADDRESS) {
      const server = make();
      server.keepAliveTimeout = 60_000;
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      for (const rnc of rncs.slice(at, at + PER_ADDRESS)) addresses[rnc] = `http://127.0.0.1:${port}/${rnc}`;
    }
  }
  process.send?.(addresses);
});
process.on('disconnect', () => process.exit());
