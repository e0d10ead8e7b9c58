export const contingency = {
  title: 'Contingencia',
};
