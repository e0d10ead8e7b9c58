-- AlterTable
ALTER TABLE "deliveries" ADD COLUMN     "host" TEXT;
