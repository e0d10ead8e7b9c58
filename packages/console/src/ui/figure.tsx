import { type ReactNode, useState } from 'react';
import { useTranslations } from 'use-intl';
import { type Column, Table } from './table.js';

interface FigureProps<T> {
  title: string;
  /** The chart, as a picture. */
  children: ReactNode;
  /** The same figures as a table. */
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowKey: (row: T) => string;
}

/** A chart, and its figures as a table behind a switch. */
export function Figure<T>({ title, children, ...table }: FigureProps<T>) {
  const words = useTranslations('figure');
  const [asTable, showTable] = useState(false);
  return (
    <figure>
      <figcaption>
        <h2>{title}</h2>
        <button type="button" className="plain" onClick={() => showTable(!asTable)} aria-pressed={asTable}>
          {words('asTable')}
          <span className="unseen">{`: ${title}`}</span>
        </button>
      </figcaption>
      {asTable ? <Table caption={title} {...table} /> : children}
    </figure>
  );
}
