import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { dayBefore } from '../ui/format.js';
import { randomKey } from './digest.js';
import { bodyOf, gateway, type Schemas } from './gateway.js';
import { headerDay } from './invoices.js';
import { usePlace } from './place.js';

export type Submitted = Schemas['SubmissionResponse'];

/** A document to submit: its JSON, and the caller's own reference. */
export interface Submission {
  readonly json: string;
  readonly reference?: string;
}

/**
 * Checks a document on the gateway without submitting it, and submits it. All sends of a page have one idempotency key, so neither
 * a repeat after a lost answer nor a change makes a second invoice: the gateway refuses the change if the first version was issued.
 */
export function useSubmission({ json, reference = '' }: Submission) {
  const { env } = usePlace();
  const queries = useQueryClient();
  const [key] = useState(randomKey);
  const call = (validate: boolean) =>
    bodyOf(
      gateway.POST('/fe_Submit', {
        params: {
          query: validate ? { validate: 'true' } : {},
          header: { env, 'idempotency-key': key, ...(reference && { 'x-reference': reference }) },
        },
        body: JSON.parse(json),
      }),
    );
  return {
    check: useMutation({ mutationFn: () => call(true) }),
    send: useMutation({
      mutationFn: () => call(false),
      // The next page asks anew; this one still shows what was sent.
      onSuccess: () =>
        queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session', refetchType: 'none' }),
    }),
  };
}

/** A taxpayer of the authority's directory; null if it has no entry. */
export function useDirectory(rnc: string) {
  const { env } = usePlace();
  return useQuery({
    queryKey: ['directory', env, rnc],
    enabled: /^(?:\d{9}|\d{11})$/.test(rnc),
    queryFn: () => bodyOf(gateway.GET('/directory/taxpayers/{rnc}', { params: { path: { rnc }, header: { env } } })),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The latest document of the place, from which a new one takes the issuer's address; null without one. */
export function useLatestDocument() {
  const { env, rnc } = usePlace();
  return useQuery({
    queryKey: ['latest-document', env, rnc],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const header = {
        env,
        'rnc-issuing': rnc,
        'start-date': headerDay(dayBefore(365)),
        'end-date': headerDay(dayBefore(0)),
      };
      const query = { sort: '-created_at' as const, limit: 1 };
      const { invoices } = await bodyOf(gateway.GET('/invoices', { params: { header, query } }));
      const encf = invoices[0]?.encf;
      if (encf === undefined) return null;
      return bodyOf(gateway.GET('/invoices/{encf}/document', { params: { path: { encf }, header } }));
    },
  });
}

/** The JSON Schema of a type of e-CF. */
export function useSchema(type: string) {
  return useQuery({
    queryKey: ['schema', type],
    enabled: /^\d{2}$/.test(type),
    queryFn: async () => {
      const call = gateway.GET('/schemas/{type}.json', { params: { path: { type: type as Schemas['EcfType'] } } });
      return (await bodyOf(call)) as object;
    },
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
}
