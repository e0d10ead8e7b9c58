import { checkJson } from '@ecf/engine/check';
import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useMemo, useRef, useState } from 'react';
import { usePlace } from '../../data/place.js';
import { useSubmission } from '../../data/submission.js';
import { faultsOf } from './send.js';

interface Reviewed {
  /** The document in JSON as it is sent. */
  readonly json: string;
  /** The same with a number for the check, where the gateway gives it. */
  readonly checked: string;
  readonly reference?: string;
  /** Whether something was typed. */
  readonly isChanged: boolean;
}

/** The way of a document to the authority: check in the browser, dry run, sending, and then its page. */
export function useReview({ json, checked, reference, isChanged }: Reviewed) {
  const { rnc } = usePlace();
  const navigate = useNavigate();
  const [isReviewed, setReviewed] = useState(false);
  const isSent = useRef(false);
  const deferred = useDeferredValue(checked);
  const found = useMemo(() => checkJson(deferred).faults, [deferred]);
  const submission = useSubmission({ json, reference });
  const { check, send } = submission;
  const answered = [...faultsOf(check.error), ...faultsOf(send.error)];
  return {
    submission,
    isReviewed,
    faults: found.length > 0 ? found : answered,
    /** Forgets the answers about the content before a change. */
    reset: () => {
      check.reset();
      send.reset();
    },
    /** Begins the dry run; false if the check in the browser finds faults. */
    review: () => {
      setReviewed(true);
      const { valid } = checkJson(checked);
      if (valid) check.mutate();
      return valid;
    },
    isUnsaved: () => isChanged && !isSent.current,
    sent: ({ encf }: { encf: string | null }) => {
      isSent.current = true;
      if (encf !== null) navigate({ to: '/invoices/$rnc/$encf', params: { rnc, encf } });
    },
  };
}
