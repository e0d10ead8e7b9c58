import type { DocumentNode } from '@ecf/domain';
import { checkJson } from '@ecf/engine/check';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useDeferredValue, useMemo, useRef, useState } from 'react';
import { useAccount, usePlace } from '../../data/place.js';
import { useLatestDocument, useSubmission } from '../../data/submission.js';
import { type Draft, documentOf, issuerOf } from './draft.js';
import { faultsOf } from './send.js';

/** The state of the form: what is typed, the document that follows from it, its faults, and its way to the authority. */
export function useInvoiceForm(start: Draft) {
  const { rnc } = usePlace();
  const navigate = useNavigate();
  const [typed, setTyped] = useState(start);
  const [isReviewed, setReviewed] = useState(false);
  const isSent = useRef(false);
  const latest = useLatestDocument();
  const draft = useMemo(
    () =>
      Object.keys(typed.issuer).length > 0
        ? typed
        : { ...typed, issuer: issuerOf((latest.data ?? {}) as DocumentNode) },
    [typed, latest.data],
  );
  const { issuer, next } = useIssuer(draft.type);
  const stated = { encf: draft.encf, expires: draft.expires };
  const document = documentOf(draft, issuer, next === null ? stated : { encf: '', expires: '' });
  const checked = JSON.stringify(documentOf(draft, issuer, next ?? stated));
  const faults = useFaults(useDeferredValue(checked));
  const submission = useSubmission({ json: JSON.stringify(document), reference: draft.own.trim() });
  const { check, send } = submission;
  const answered = [...faultsOf(check.error), ...faultsOf(send.error)];
  return {
    draft,
    document,
    submission,
    next: next?.encf ?? null,
    faults: isReviewed ? (faults.length > 0 ? faults : answered) : [],
    change: (changed: Partial<Draft>) => {
      check.reset();
      send.reset();
      setTyped({ ...draft, ...changed });
    },
    review: (event: FormEvent<HTMLFormElement>) => {
      event.preventDefault();
      setReviewed(true);
      if (checkJson(checked).valid) check.mutate();
      else focusFirstFault(event.currentTarget);
    },
    isUnsaved: () => typed !== start && !isSent.current,
    sent: ({ encf }: { encf: string | null }) => {
      isSent.current = true;
      if (encf !== null) navigate({ to: '/invoices/$rnc/$encf', params: { rnc, encf } });
    },
  };
}

const useFaults = (json: string) => useMemo(() => checkJson(json).faults, [json]);

function focusFirstFault(form: HTMLFormElement): void {
  requestAnimationFrame(() => form.querySelector<HTMLElement>('[aria-invalid]')?.focus());
}

/** Who issues, and the number that the gateway gives next; null if no range with numbers is registered for the type. */
export function useIssuer(type: string) {
  const { env, rnc } = usePlace();
  const own = useAccount().data?.taxpayers.find((taxpayer) => taxpayer.rnc === rnc);
  const range = own?.ranges.find((one) => one.env === env && one.ecf_type === type && one.next !== null);
  const next = range?.next ? { encf: range.next, expires: range.expires ?? '' } : null;
  return { issuer: { rnc, name: own?.name ?? '' }, next };
}
