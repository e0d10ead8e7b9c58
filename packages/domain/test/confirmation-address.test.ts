import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { Environment } from '../src/authority/environment.js';
import { confirmationAddress } from '../src/document/confirmation-address.js';
import { example, issuedEcf, SHARED } from './documents.js';

/** Compares addresses as the authority reads them: host, path and names in any case, decoded values, in order. */
function parsed(address: string) {
  const url = new URL(address);
  return {
    origin: url.origin,
    path: url.pathname.toLowerCase(),
    parameters: [...url.searchParams].map(([name, value]) => [name.toLowerCase(), value]),
  };
}

const PRINTED = { buyerRnc: '130000002', issued: '10-10-2020', signed: '10-10-2020 09:00:00' };

describe('the confirmation address', () => {
  it('is the one printed for a full document', () => {
    const address = confirmationAddress({
      env: 'TesteCF',
      tree: issuedEcf({ ...PRINTED, encf: 'e310000000001', issuerRnc: '130000001', total: '02.11' }),
      securityCode: 'dcp79q',
    });
    expect(parsed(address)).toEqual(
      parsed(
        'https://ecf.dgii.gov.do/testecf/consultatimbre?rncemisor=130000001&rnccomprador=130000002&encf=e310000000001&fechaemision=10-10-2020&montototal=02.11&fechafirma=10-10-2020%2009:00:00&codigoseguridad=dcp79q',
      ),
    );
    expect(address).toContain('FechaFirma=10-10-2020%2009:00:00&');
  });

  it('is the one printed for a consumer document below the limit', () => {
    const address = confirmationAddress({
      env: 'TesteCF',
      tree: issuedEcf({ ...PRINTED, encf: 'e320000000064', issuerRnc: '131880738', total: '6225.09' }),
      securityCode: 'uabnyh',
    });
    expect(parsed(address)).toEqual(
      parsed(
        'https://fc.dgii.gov.do/testecf/consultatimbrefc?rncemisor=131880738&encf=e320000000064&montototal=6225.09&codigoseguridad=uabnyh',
      ),
    );
  });

  it('is the same from the summary as from the document it summarises', () => {
    expect(confirmationAddress({ env: 'eCF', tree: example('rfce'), securityCode: 'abcdef' })).toBe(
      confirmationAddress({ env: 'eCF', tree: example('ecf-32'), securityCode: 'abcdef' }),
    );
  });

  (SHARED === null ? it.skip : it)('meets every official example (skipped when the shared folder is absent)', () => {
    type Example = { expected_url?: string; inputs: Record<string, string> };
    const { official }: { official: Example[] } = JSON.parse(readFileSync(`${SHARED}facts/qr.json`, 'utf8'));
    const complete = official.filter((entry) => entry.expected_url !== undefined);
    expect(complete.length).toBeGreaterThan(0);
    for (const { expected_url, inputs } of complete) {
      const tree = issuedEcf({
        encf: inputs.ENCF!,
        issuerRnc: inputs.RncEmisor!,
        buyerRnc: inputs.RncComprador ?? null,
        issued: inputs.FechaEmision ?? PRINTED.issued,
        total: inputs.MontoTotal!,
        signed: inputs.FechaFirma ?? PRINTED.signed,
      });
      const address = confirmationAddress({
        env: inputs.env as Environment,
        tree,
        securityCode: inputs.CodigoSeguridad!,
      });
      expect(parsed(address)).toEqual(parsed(expected_url!));
    }
  });
});
