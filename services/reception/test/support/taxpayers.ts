import { randomUUID } from 'node:crypto';
import type { BusEvent } from '@ecf/bus';
import { makeEvent } from '@ecf/bus/events';
import { type TaxpayerState, TOPICS } from '@ecf/contracts';
import { createMasterKeys, taxpayerCertificate } from '@ecf/kit';
import { type SigningCertificate, serialiseCertificate } from '@ecf/xml-signing';
import { BUYER, buyer, NOW } from './senders.js';

export const MASTER_KEY = Buffer.alloc(32, 7);
export const ACCOUNT = 'account-1';
export const OTHER_ACCOUNT = 'account-2';

let revision = 0;

/** A taxpayer with a higher revision than all before; with a certificate unless it is null. */
export function taxpayer(
  state: Partial<Omit<TaxpayerState, 'certificate'>> & { certificate?: SigningCertificate | null } = {},
): TaxpayerState {
  revision += 1;
  const { certificate = buyer.certificate, ...rest } = state;
  const rnc = state.rnc ?? BUYER;
  return {
    rnc,
    account_id: ACCOUNT,
    account_active: true,
    revision,
    previous_revision: 0,
    name: `Taxpayer ${rnc}`,
    active: true,
    fingerprint: certificate?.fingerprint ?? null,
    ranges: [],
    created_at: NOW.toISOString(),
    ...rest,
    certificate:
      certificate === null
        ? null
        : createMasterKeys([MASTER_KEY])
            .seal(
              serialiseCertificate(certificate),
              taxpayerCertificate({ account_id: state.account_id ?? ACCOUNT, rnc }),
            )
            .toString('base64'),
  };
}

export function taxpayerChanged(state: TaxpayerState): BusEvent {
  return makeEvent(
    {
      topic: TOPICS.taxpayers.name,
      type: 'taxpayer.changed',
      source: 'gateway',
      subject: state.rnc,
      key: state.rnc,
      data: state,
    },
    { id: randomUUID(), time: NOW },
  );
}
