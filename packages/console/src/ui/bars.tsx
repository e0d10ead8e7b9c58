import { Link } from '@tanstack/react-router';
import { scaleBand, scaleLinear } from '@visx/scale';
import { Bar } from '@visx/shape';
import type { InvoiceFilters } from '../data/invoices.js';
import { useWidth } from './width.js';
import './bars.css';

export type Tone = 'good' | 'warn' | 'bad' | 'wait' | 'plain';

/** A bar of a chart: its parts from below, and the list behind it. */
export interface BarOf {
  readonly key: string;
  /** Below the bar; not every label has room. */
  readonly label: string;
  /** The figures in words. */
  readonly text: string;
  readonly parts: readonly (readonly [tone: Tone, value: number])[];
  readonly search: InvoiceFilters;
}

interface BarsProps {
  /** What the chart shows, for screen readers. */
  label: string;
  bars: readonly BarOf[];
  /** A value of the axis in words. */
  axis: (value: number) => string;
}

const [HEIGHT, LABELS, AXIS, LABEL_WIDTH] = [200, 26, 52, 64];
const heightOf = ({ parts }: BarOf) => parts.reduce((sum, [, value]) => sum + value, 0);

/** Bars with an axis, as wide as there is room. A click opens the list behind a bar; the table has the same links for the keyboard. */
export function Bars({ label, bars, axis }: BarsProps) {
  const [element, width] = useWidth<HTMLDivElement>();
  const x = scaleBand({ domain: bars.map(({ key }) => key), range: [AXIS, width], padding: 0.3 });
  const y = scaleLinear({ domain: [0, Math.max(1, ...bars.map(heightOf))], range: [HEIGHT - LABELS, 8], nice: 3 });
  const every = Math.max(1, Math.ceil((bars.length * LABEL_WIDTH) / Math.max(1, width - AXIS)));
  return (
    <div ref={element} className="chart">
      {width > 0 && (
        <svg width={width} height={HEIGHT}>
          <title>{label}</title>
          {y.ticks(3).map((value) => (
            <g key={value}>
              <line x1={AXIS} x2={width} y1={y(value)} y2={y(value)} />
              <text x={AXIS - 8} y={y(value) + 4} textAnchor="end">
                {axis(value)}
              </text>
            </g>
          ))}
          {bars.map((bar) => (
            <Link key={bar.key} to="/invoices" search={bar.search} tabIndex={-1} aria-label={bar.text}>
              <title>{bar.text}</title>
              <rect className="reach" x={x(bar.key)} y={0} width={x.step()} height={HEIGHT} />
              <Parts bar={bar} left={x(bar.key) ?? 0} width={x.bandwidth()} y={y} />
            </Link>
          ))}
          {bars.map(
            ({ key, label }, index) =>
              (bars.length - 1 - index) % every === 0 && (
                <text key={key} x={(x(key) ?? 0) + x.bandwidth() / 2} y={HEIGHT - 6} textAnchor="middle">
                  {label}
                </text>
              ),
          )}
        </svg>
      )}
    </div>
  );
}

function Parts({ bar, left, width, y }: { bar: BarOf; left: number; width: number; y: (value: number) => number }) {
  let below = 0;
  return bar.parts.map(([tone, value]) => {
    const [bottom, top] = [y(below), y(below + value)];
    below += value;
    return value > 0 && <Bar key={tone} className={tone} x={left} y={top} width={width} height={bottom - top} />;
  });
}
