import type { DocumentNode } from '@ecf/domain';
import { type FormEvent, useMemo, useState } from 'react';
import { useAccount, usePlace } from '../../data/place.js';
import { useLatestDocument } from '../../data/submission.js';
import { type Draft, documentOf, issuerOf } from './draft.js';
import { useReview } from './use-review.js';

const AUTOMATIC = { encf: '', expires: '' };

/** The state of the form: what is typed, the document that follows from it, its faults, and its way to the authority. */
export function useInvoiceForm(start: Draft) {
  const [typed, setTyped] = useState(start);
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
  const document = documentOf(draft, issuer, next === null ? stated : AUTOMATIC);
  const { faults, isReviewed, reset, review, ...others } = useReview({
    json: JSON.stringify(document),
    checked: JSON.stringify(documentOf(draft, issuer, next ?? stated)),
    reference: draft.own.trim(),
    isChanged: typed !== start,
  });
  return {
    ...others,
    draft,
    document,
    next: next?.encf ?? null,
    faults: isReviewed ? faults : [],
    change: (changed: Partial<Draft>) => {
      reset();
      setTyped({ ...draft, ...changed });
    },
    review: (event: FormEvent<HTMLFormElement>) => {
      event.preventDefault();
      if (!review()) focusFirstFault(event.currentTarget);
    },
  };
}

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
