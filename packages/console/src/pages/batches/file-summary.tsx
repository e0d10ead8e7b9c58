import { useTranslations } from 'use-intl';
import type { BatchFile } from '../../data/batch-file.js';
import { useFormats } from '../../ui/format.js';
import { type Column, Table } from '../../ui/table.js';
import { type DocumentSum, sumsOf } from './sums.js';

/** What a file holds, so that a person sees whether it was read as it was meant. */
export function FileSummary({ file }: { file: BatchFile }) {
  const words = useTranslations('batches');
  const types = useTranslations('type');
  const { day, money, number } = useFormats();
  const { name, encoding, lines } = file;
  const columns: Column<DocumentSum>[] = [
    { head: words('type'), cell: ({ type }) => (types.has(type as '31') ? types(type as '31') : words('otherType')) },
    {
      head: words('days'),
      cell: ({ first, last }) => [...new Set([first, last])].filter(Boolean).map(day).join(' – '),
    },
    { head: words('documents'), cell: ({ count }) => number(count), amount: true },
    { head: words('amount'), cell: ({ total }) => money(total), amount: true },
  ];
  return (
    <>
      <h2 dir="auto">{name}</h2>
      {encoding === 'windows-1252' && <p className="quiet">{words('windows1252')}</p>}
      <Table
        caption={words('summary', { count: lines.length })}
        columns={columns}
        rows={sumsOf(lines)}
        rowKey={({ type }) => type}
      />
    </>
  );
}
