-- AlterTable
ALTER TABLE "cancellation" ADD COLUMN     "asked_at" TIMESTAMPTZ(3),
ADD COLUMN     "settled_at" TIMESTAMPTZ(3),
ADD COLUMN     "settled_note" TEXT;
