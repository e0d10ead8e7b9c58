import { useQuery } from '@tanstack/react-query';
import { useTranslations } from 'use-intl';
import { type AuditEntry, type Chain, useWholeChain, verifyChain } from '../../../data/admin/audit.js';
import { Fault } from '../../../ui/fault.js';

interface ChainOfProps {
  /** Newest first. */
  entries: readonly AuditEntry[];
  isFiltered: boolean;
}

/** What this browser computed about the hashes of the entries, and the check of the whole log. */
export function ChainOf({ entries, isFiltered }: ChainOfProps) {
  const words = useTranslations('admin.audit');
  const whole = useWholeChain();
  const loaded = useQuery({
    queryKey: ['chain', isFiltered, entries.map(({ hash }) => hash)],
    queryFn: () => verifyChain([...entries].reverse(), { gaps: isFiltered }),
  });
  return (
    <section className="chain" aria-live="polite">
      {loaded.data && <Result chain={loaded.data} scope={isFiltered ? 'filtered' : 'loaded'} />}
      {whole.isPending && <p className="quiet">{words('checking', { count: whole.checked })}</p>}
      {whole.data && <Result chain={whole.data} scope="whole" />}
      <Fault error={whole.error} />
      <button type="button" disabled={whole.isPending} onClick={() => whole.mutate()}>
        {words('verify')}
      </button>
    </section>
  );
}

function Result({
  chain: { from, to, entries, fault },
  scope,
}: {
  chain: Chain;
  scope: 'loaded' | 'filtered' | 'whole';
}) {
  const words = useTranslations('admin.audit');
  if (fault === null) return <p className="status good">{words(`holds.${scope}`, { from, to, count: entries })}</p>;
  return (
    <p className="status bad" role="alert">
      {words(`faults.${fault.kind}`, { seq: fault.seq })}
    </p>
  );
}
