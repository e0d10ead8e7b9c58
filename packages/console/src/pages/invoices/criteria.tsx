import { useTranslations } from 'use-intl';
import type { InvoiceFilters } from '../../data/invoices.js';
import { usePlace } from '../../data/place.js';
import { Choice, DayField, Field } from '../../ui/field.js';
import { dayBefore, monthAgo } from '../../ui/format.js';

const STATUSES = ['Aceptado', 'AceptadoCondicional', 'Rechazado', 'EnProceso'] as const;
const TYPES = ['31', '32', '33', '34', '41', '43', '44', '45', '46', '47'] as const;
const DELIVERIES = ['pending', 'delivered', 'no_receiver', 'refused', 'unacknowledged', 'failed'] as const;
const SORTS = ['-created_at', 'created_at', '-total_amount', 'total_amount'] as const;
const MORE = ['delivery', 'min', 'max', 'period', 'sort', 'superseded', 'code'] as const;

interface CriteriaProps {
  draft: InvoiceFilters;
  change: (changed: InvoiceFilters) => void;
}

/** The filters that most people need. */
export function Criteria({ draft, change }: CriteriaProps) {
  const words = useTranslations();
  const any = ['', words('invoices.all')] as const;
  return (
    <div className="filters">
      <DayField label={words('invoices.from')} value={draft.from ?? monthAgo()} onChange={(from) => change({ from })} />
      <DayField label={words('invoices.to')} value={draft.to ?? dayBefore(0)} onChange={(to) => change({ to })} />
      <Choice
        label={words('invoices.status')}
        value={draft.status ?? ''}
        options={[any, ...STATUSES.map((status) => [status, words(`status.${status}`)] as const)]}
        onChange={(status) => change({ status })}
      />
      <Choice
        label={words('invoices.type')}
        value={draft.type ?? ''}
        options={[any, ...TYPES.map((type) => [type, `${type} ${words(`type.${type}`)}`] as const)]}
        onChange={(type) => change({ type })}
      />
    </div>
  );
}

/** The other filters, folded unless one of them is given. */
export function MoreCriteria({ draft, change }: CriteriaProps) {
  const words = useTranslations('invoices');
  const delivered = useTranslations('invoice.delivered');
  const { env } = usePlace();
  const any = ['', words('all')] as const;
  return (
    <details open={MORE.some((name) => draft[name])}>
      <summary>{words('more')}</summary>
      <div className="filters">
        <Choice
          label={words('delivery')}
          value={draft.delivery ?? ''}
          options={[any, ...deliveryOptions(draft.delivery, delivered)]}
          onChange={(delivery) => change({ delivery })}
        />
        <Text label={words('min')} value={draft.min} onChange={(min) => change({ min })} inputMode="decimal" />
        <Text label={words('max')} value={draft.max} onChange={(max) => change({ max })} inputMode="decimal" />
        <Choice
          label={words('period')}
          value={draft.period ?? 'created'}
          options={[
            ['created', words('created')],
            ['issued', words('issued')],
          ]}
          onChange={(period) => change({ period })}
        />
        <Choice
          label={words('sort')}
          value={draft.sort ?? '-created_at'}
          options={SORTS.map((sort) => [sort, words(`sorts.${sort}`)] as const)}
          onChange={(sort) => change({ sort })}
        />
        <Text label={words('code')} value={draft.code} onChange={(code) => change({ code })} />
        {env !== 'eCF' && (
          <Choice
            label={words('runs')}
            value={draft.superseded ?? ''}
            options={[
              ['', words('presentRun')],
              ['true', words('allRuns')],
            ]}
            onChange={(superseded) => change({ superseded })}
          />
        )}
      </div>
    </details>
  );
}

/** One state each, and the several of the address. */
function deliveryOptions(given: string | undefined, words: ReturnType<typeof useTranslations<'invoice.delivered'>>) {
  const single = DELIVERIES.map((state) => [state, words(state)] as const);
  if (given === undefined || !given.includes(',')) return single;
  const several = DELIVERIES.filter((state) => given.split(',').includes(state));
  return [...single, [given, several.map((state) => words(state)).join(', ')] as const];
}

interface InputProps {
  label: string;
  onChange: (value: string) => void;
}

function Text({
  label,
  value = '',
  onChange,
  inputMode,
}: InputProps & { value: string | undefined; inputMode?: 'decimal' }) {
  return (
    <Field label={label}>
      {(ids) => (
        <input
          {...ids}
          value={value}
          onChange={({ target }) => onChange(target.value.trim())}
          inputMode={inputMode}
          autoComplete="off"
        />
      )}
    </Field>
  );
}
