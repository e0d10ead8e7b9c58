import { describe, expect, it } from '@jest/globals';
import { mergeMetrics } from '../src/merged-metrics.js';

const PAGE = `# HELP calls_total Calls
# TYPE calls_total counter
calls_total{env="TesteCF"} 3
calls_total{} 1

# HELP age_seconds Age
# TYPE age_seconds gauge
age_seconds 7
`;

describe('the metrics of several processes on one page', () => {
  it('stand together by metric, each with the name of its process', () => {
    const text = mergeMetrics([
      { name: 'a', text: PAGE },
      { name: 'b', text: PAGE.replace('age_seconds 7', 'age_seconds 8') },
    ]);
    expect(text).toBe(`# HELP ecf_process_up Whether a process of the deployment answers
# TYPE ecf_process_up gauge
ecf_process_up{process="a"} 1
ecf_process_up{process="b"} 1
# HELP calls_total Calls
# TYPE calls_total counter
calls_total{process="a",env="TesteCF"} 3
calls_total{process="a"} 1
calls_total{process="b",env="TesteCF"} 3
calls_total{process="b"} 1
# HELP age_seconds Age
# TYPE age_seconds gauge
age_seconds{process="a"} 7
age_seconds{process="b"} 8
`);
  });

  it('say which process does not answer', () => {
    expect(mergeMetrics([{ name: 'a', text: null }])).toContain('ecf_process_up{process="a"} 0\n');
  });
});
