export {
  type CountedRate,
  openRateCounters,
  type RateCounter,
  type RateCounters,
  rateLimitHeaders,
  withListed,
} from './rate-counters.js';
