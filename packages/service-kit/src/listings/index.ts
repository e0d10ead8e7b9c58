export { CSV_PAGE, sendCsvListing, sendCsvRows, wantsCsv } from './csv.js';
export { columnOf, type ListingPlace, listingCursor } from './listing-cursor.js';
export { type ListingCriteria, ListingParameters } from './listing-parameters.js';
export { type ColumnBounds, type SeekPlace, sortedWithin } from './sorted-within.js';
